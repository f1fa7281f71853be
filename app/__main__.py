"""``python -m app`` is ``tunedeck``."""

import sys

from app.entry import main

sys.exit(main())
