"""The part of psql that auth_golden.py uses, for machines that have no psql: PostgreSQL from npm comes without it.

    psql.py URL -XAtq              reads statements from standard input; a line \\echo 'MARK' :ERROR ends one and prints its rows
    psql.py URL ... -f FILE        runs a file
"""
import sys

import psycopg


def run(connection, text):
    """Runs the statements and prints the rows of their results; returns whether one of them failed."""
    try:
        cursor = connection.execute(text)
    except psycopg.Error as error:
        print("ERROR: ", error)
        return True
    while True:
        result = cursor.pgresult
        for row in range(result.ntuples):
            print("|".join((result.get_value(row, column) or b"").decode() for column in range(result.nfields)))
        if not cursor.nextset():
            return False


def main():
    url, *options = sys.argv[1:]
    with psycopg.connect(url, autocommit=True) as connection:
        if "-f" in options:
            with open(options[options.index("-f") + 1], encoding="utf-8") as file:
                return int(run(connection, file.read()))
        statement = []
        for line in sys.stdin:
            if not line.startswith("\\echo '"):
                statement.append(line)
                continue
            failed = run(connection, "".join(statement))
            print(line.split("'")[1], "true" if failed else "false", flush=True)
            statement.clear()
    return 0


if __name__ == "__main__":
    sys.exit(main())
