"""Start the installed server. A bundle has to name an entry point of its own."""

import sys

from stilltrue.__main__ import main

sys.exit(main())
