"""Starts the installed server, since a bundle has to name a file of its own."""

import sys

from stilltrue.__main__ import main

sys.exit(main())
