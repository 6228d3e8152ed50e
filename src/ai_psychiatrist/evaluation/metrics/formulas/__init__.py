"""The metrics, one file each; `registry` finds them."""
