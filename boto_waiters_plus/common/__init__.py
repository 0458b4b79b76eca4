"""What every folder may use: checks of arguments, short labels, process-wide state, warnings."""
