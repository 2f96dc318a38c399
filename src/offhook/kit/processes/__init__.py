"""Child processes: supervised, limited, never outliving their parent."""
