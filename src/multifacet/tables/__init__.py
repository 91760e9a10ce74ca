"""One call on a table: its views, few dimensions of it, or how far its labels agree."""
