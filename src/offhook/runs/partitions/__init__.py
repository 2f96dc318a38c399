"""Tables that grow with every call, in parts that are added ahead and deleted whole."""
