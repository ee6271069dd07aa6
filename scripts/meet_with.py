"""The commands that meet the documented edges: openapi/meet-with.yaml, and what follows from the status of an answer."""
import re
import sys

REFERENCE = re.compile(r"<(\d|[a-z][a-z0-9-]*)([ >])")


def fail(problem):
    sys.exit(f"openapi/meet-with.yaml: {problem}")


class Commands:
    def __init__(self, source, operations, schemas):
        """`operations` are methods, paths and statuses."""
        self.parts = source["parts"]
        self.edges = {}
        for block in source["edges"]:
            rows = block.get("of", [[]])
            is_rest = isinstance(rows, str)
            for row in self.enumeration(rows, schemas) if is_rest else rows:
                for edge, text in block["lines"].items():
                    key = (block["axis"], self.filled(edge, row))
                    if key in self.edges and not is_rest:
                        fail(f"{key} is there twice")
                    self.edges.setdefault(key, self.filled(text, row))
        for method, path, statuses in operations:
            for status in statuses:
                self.edges.setdefault(("answers", f"{method} {path} {status}"), self.of_status(method, path, int(status)))

    def lines(self):
        for (axis, edge), text in sorted(self.edges.items()):
            if text.startswith("<= "):
                # The command of an answer, which may be one that is not documented.
                answer = re.fullmatch(r"<= ([A-Z]+) (/\S*) (\d{3})>", text) or fail(f"{text} names no answer")
                text = self.edges.get(("answers", text[3:-1])) or self.of_status(answer[1], answer[2], int(answer[3]))
            command = self.expanded(text)
            if re.search(r"[\t\n]", edge + command):
                fail(f"the command of {axis}, {edge} is no single line")
            yield f"{axis}\t{edge}\t{command}"

    @staticmethod
    def enumeration(path, schemas):
        """The values of a schema, such as `WebhookEvents/items`, each as a row."""
        for part in path.split("/"):
            schemas = schemas.get(part) or fail(f"{path} is no schema")
        return [[value] for value in schemas.get("enum") or fail(f"{path} has no enumeration")]

    @staticmethod
    def filled(text, row):
        """A text with the words of a row."""
        for number, word in enumerate(row, start=1):
            text = text.replace(f"<={number}>", str(word))
        return text

    def expanded(self, text, arguments=()):
        """A text with its parts, whose arguments may have parts themselves."""
        made, place = "", 0
        for found in REFERENCE.finditer(text):
            if found.start() < place:
                continue
            made += text[place:found.start()]
            given, place = [], found.end()
            if found[2] == " ":
                end = self.end(text, place)
                given = [self.expanded(one, arguments) for one in self.split(text[place:end])]
                place = end + 1
            name = found[1]
            if name.isdigit():
                if int(name) > len(arguments):
                    fail(f"<{name}> has no text, in {text}")
                made += arguments[int(name) - 1]
            elif name in self.parts:
                made += self.expanded(self.parts[name], given)
            else:
                fail(f"there is no part {name}, in {text}")
        return made + text[place:]

    @staticmethod
    def end(text, place):
        """The place of the bracket that ends a reference."""
        depth = 1
        for place in range(place, len(text)):
            depth += {"<": 1, ">": -1}.get(text[place], 0)
            if not depth:
                return place
        fail(f"a reference has no end, in {text}")

    @staticmethod
    def split(text):
        """The arguments of a reference, which `||` divides outside of other references."""
        found, depth = [""], 0
        for part in re.split(r"(<| \|\| |>)", text):
            depth += {"<": 1, ">": -1}.get(part, 0)
            if part == " || " and not depth:
                found.append("")
            else:
                found[-1] += part
        return found

    @staticmethod
    def caller(path):
        """The options with which a request has a caller."""
        for beginning, caller in (
                ("/v1/", "<v1>"), ("/v2/", "<v2>"), ("/sdk/login", ""), ("/sdk/", "<user>"),
                ("/partner/authorize-entrupy-sdk-user", "<partner demo>"), ("/components/v1/", "<v2>")):
            if path.startswith(beginning):
                return caller
        return ""

    def of_status(self, method, route, status):
        """A command that meets an answer of which only the status matters."""
        path = re.sub(r"\{.*?\}", "unknown-1", route)
        caller = self.caller(route)

        def call(*options, caller=caller, url="$ENTRUPY_SIM_URL"):
            return " ".join(filter(None, [f"curl -s -X {method}", caller, *options, f'"{url}{path}"']))
        # Requests that follow each other at once share a login.
        follower = call(caller=caller.replace("<user>", "<app>"))
        of_app = route.startswith("/sdk/")
        if status == 403 and of_app:
            return f"entrupy-sim settings set sdk.ended_session_status 403; <token>; entrupy-sim sessions revoke --all; {follower}"
        if status == 404 and path == route:
            return call(caller="", url="<nowhere>")
        if status == 429:
            return f"<limited {'sdk' if of_app else 'api'}_per_second || {follower}>"
        if status >= 500:
            glob = re.sub(r"\{.*?\}", "*", route)
            return f"entrupy-sim fault add --route '{glob}' --method {method} --status {status} --times 1; {call(caller='')}"
        typed = "-H 'Content-Type: application/json'"
        return {
            400: call("<json> '{'"), 401: call(caller=""), 403: call("-H 'Host: elsewhere.example'", caller=""), 404: call(),
            408: f"sleep 40 | {call(f'{typed} -T -')}", 413: f"head -c 2000000 /dev/zero | {call(f'{typed} --data-binary @-')}",
            415: call("-H 'Content-Type: text/csv' -d a,b"),
        }.get(status) or call(*([] if method == "GET" or status == 204 else ["<json> '{}'"]))
