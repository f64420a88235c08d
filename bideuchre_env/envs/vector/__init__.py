"""Many tables at once for self-play."""
