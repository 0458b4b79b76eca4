"""What knows botocore: calls, errors and responses of a client, and its waiters."""
