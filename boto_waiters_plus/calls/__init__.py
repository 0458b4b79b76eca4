"""One call of a client, bounded in time; it knows no waiter. The private names of botocore."""
