"""Waiter definitions: finding, parsing, converting and caching them."""
