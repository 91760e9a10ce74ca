"""Several views of one table: :class:`ViewFinder`, and the methods by which it finds them."""
