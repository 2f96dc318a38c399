"""Files of people become plain text in pieces. Everything but ``kinds`` runs in a limited process (``program``)."""
