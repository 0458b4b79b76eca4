"""botocore's waiter objects: their schedules, acceptors and words."""
