"""The filters parameter of lists."""
