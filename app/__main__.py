"""``python -m app`` is ``tunedeck``."""

import os
import sys

try:
    from app.entry import main
except KeyboardInterrupt:  # before that could listen for it
    os.write(2, b"Stopped.\n")
    os._exit(130)

sys.exit(main())
