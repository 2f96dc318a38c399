"""Scenarios played as jobs, in a process of their own, and the publish gate that asks for them."""
