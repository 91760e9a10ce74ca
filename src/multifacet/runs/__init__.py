"""A recorded run: its options, its input, its folder, and how to repeat it.

The command line runs searches and records them; the workbench records its own in the same way, so
that the command line can repeat them. Neither needs the other for it. Nothing heavy is imported
here, so that the command line answers at once.
"""
