"""The journal of a call: everything that reached it from outside, and the call that is played from it again."""
