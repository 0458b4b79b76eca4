"""One wait: its run, its drivers, its log and words; it obeys the engine and knows no botocore."""
