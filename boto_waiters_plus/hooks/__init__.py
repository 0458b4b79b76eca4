"""Where the package meets boto3: sessions, clients, waiter objects, resources, aiobotocore."""
