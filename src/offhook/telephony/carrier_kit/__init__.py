"""What several carriers' wires share: requests, forms, XML, JSON streams, signatures and number formats."""
