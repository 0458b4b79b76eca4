"""What the client of a service waits with: its definitions, judges, labels, errors and reasons."""
