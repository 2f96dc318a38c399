"""Code that several carriers share: requests, forms, XML, JSON streams, signatures and number formats."""
