"""The rules of dialing, one per file: pure functions over values, testable at every hour and clock."""
