"""A process that appends frames until it is killed, and says on stdout which are safe.

Arguments: the folder, the first frame's number, how many threads.
"""

import os
import sys
import threading
from itertools import count

from tests.spool.factories import good_frame, opened


def main() -> None:
    directory, first, threads = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    numbers = count(first)
    spool = opened(directory, segment_bytes=8_000, limit_bytes=1 << 30)

    def append() -> None:
        while True:
            number = next(numbers)
            spool.append([good_frame(number, payload=b"%d\n" % number * (number % 90))])
            os.write(1, b"%d\n" % number)

    for _ in range(threads):
        threading.Thread(target=append).start()


if __name__ == "__main__":
    main()
