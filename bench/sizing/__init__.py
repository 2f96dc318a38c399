"""What `bench.capacity` is made of: one call is measured, and what a number of them needs follows by arithmetic."""
