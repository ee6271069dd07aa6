"""What the clients for tests have from the description: the types of Node's package, and Swift's effects of faults. For scripts/generate."""
import json
import re
import sys
import textwrap

WIDTH = 140
#: A larger object that is no type of the package is shown without its members: a rendering of an item, for instance.
MOST_MEMBERS = 6
#: What a schema is in an answer, by its name. Those that are types of the package have its names.
NODE_NAMES = {"Duration": "Duration", "SizeText": "string", "Epoch": "number", "Moment": "string"}


class Schemas:
    def __init__(self, all):
        self.all = all

    def followed(self, schema):
        """The schema that a reference names, with the description that stands beside the reference."""
        while "$ref" in schema:
            schema = {**self.all[schema["$ref"].rsplit("/", 1)[-1]], **{key: value for key, value in schema.items() if key != "$ref"}}
        return schema

    def at(self, path):
        """A schema by its name and members: `DueList.due[]` is an entry of that list."""
        name, *rest = path.split(".")
        try:
            schema = self.all[name]
            for member in rest:
                schema = self.followed(schema)["properties"][member.removesuffix("[]")]
                if member.endswith("[]"):
                    schema = self.followed(schema)["items"]
        except KeyError:
            sys.exit(f"openapi/typescript.yaml: there is no schema {path}")
        return schema


def described(schema):
    return " ".join(schema.get("description", "").split())


# Node

def node_comment(text, indent=""):
    if not text:
        return []
    if len(indent) + len(text) + 7 <= WIDTH:
        return [f"{indent}/** {text} */"]
    return [f"{indent}/**", *(f"{indent} * {line}" for line in textwrap.wrap(text, WIDTH - len(indent) - 3)), f"{indent} */"]


class NodeTypes:
    def __init__(self, schemas, paths):
        self.schemas = schemas
        own = {place if isinstance(place, str) else place[0]: name for name, place in paths.items()}
        self.names = {**NODE_NAMES, **{path: name for path, name in own.items() if "." not in path}}
        #: The types that stand inside others, by their schemas.
        self.inner = {id(schemas.at(path)): name for path, name in own.items() if "." in path}

    def type(self, schema, indent, is_itself=False):
        if id(schema) in self.inner and not is_itself:
            return self.inner[id(schema)]
        name = schema.get("$ref", "").rsplit("/", 1)[-1]
        if name in self.names:
            return self.names[name]
        schema = self.schemas.followed(schema)
        if name and len(schema.get("properties", [])) > MOST_MEMBERS:
            return "JSONObject"
        if "const" in schema:
            return json.dumps(schema["const"])
        if "enum" in schema:
            return " | ".join(json.dumps(value) for value in schema["enum"])
        for word, between in (("oneOf", " | "), ("anyOf", " | "), ("allOf", " & ")):
            if word in schema:
                return between.join(dict.fromkeys(self.type(one, indent) for one in schema[word]))
        kinds = schema.get("type", "object" if "properties" in schema else "unknown")
        kinds = [kinds] if isinstance(kinds, str) else sorted(kinds, key=lambda kind: kind != "null") if "properties" in schema else kinds
        return " | ".join(self.kind(kind, schema, indent) for kind in kinds)

    def kind(self, kind, schema, indent):
        if kind == "array":
            entry = self.type(schema.get("items", {}), indent)
            if schema.get("minItems") == schema.get("maxItems") == 2:
                return f"[{entry}, {entry}]"
            return f"{entry}[]" if re.fullmatch(r"\w+", entry) else f"Array<{entry}>"
        if kind != "object":
            return {"integer": "number"}.get(kind, kind)
        if "properties" in schema:
            return "JSONObject & " * (schema.get("additionalProperties") is not False) + self.members(schema, indent)
        if isinstance(schema.get("additionalProperties"), dict):
            return f"Record<string, {self.type(schema['additionalProperties'], indent)}>"
        return "JSONObject"

    def members(self, schema, indent):
        lines = ["{"]
        for name, member in schema["properties"].items():
            needed = "" if name in schema.get("required", []) else "?"
            lines += node_comment(described(member), indent + "  ")
            lines.append(f"{indent}  {name}{needed}: {self.type(member, indent + '  ')};")
        return "\n".join([*lines, indent + "}"])


def node_types(schemas, paths):
    """The declarations of types, by their names and where their schemas stand."""
    schemas = Schemas(schemas)
    types = NodeTypes(schemas, paths)
    blocks = []
    for name, place in paths.items():
        path, doc = (place, None) if isinstance(place, str) else place
        schema = schemas.at(path)
        shown = schemas.followed(schema)
        doc = node_comment(doc or described(shown))
        if shown.get("type") == "object" and "properties" in shown:
            blocks.append("\n".join([*doc, f"export interface {name} extends JSONObject {types.members(shown, '')}"]))
        else:
            options = shown.get("oneOf", [shown])
            lines = [line for one in options for line in [*node_comment(described(one) if one is not shown else "", "  "), f"  | {types.type(one, '  ', is_itself=True)}"]]
            blocks.append("\n".join([*doc, f"export type {name} =", *lines]) + ";")
    return "\n\n".join(blocks) + "\n"


# Swift

def camel(name):
    first, *rest = name.split("_")
    return first + "".join("JSON" if part == "json" else part.capitalize() for part in rest)


class Argument:
    """A parameter of an effect: its name, and its type in Swift."""

    def __init__(self, schemas, effect, name, schema):
        self.name, self.wire, self.doc = camel(name), name, described(schema)
        written = json.dumps(schema)
        schema = schemas.followed(schema)
        kinds = str([schema.get("type"), *(one.get("type") for one in schema.get("anyOf", []))])
        #: The words of a parameter that has few. It is an enumeration then, beside the effect.
        self.words = [word for word in schema.get("enum", []) if word is not None]
        if "/Duration" in written or "/FaultDelay" in written:
            self.type = "SimulatedDuration"
        elif "integer" in kinds:
            self.type = "Int"
        elif 1 < len(self.words) < 4:
            self.type = effect[0].upper() + effect[1:] + self.name.capitalize()
        elif "string" in kinds or self.words:
            self.type = "String"
        else:
            self.type = "[String: String]" if "object" in kinds else "JSONValue"
        if not self.type.startswith(effect[0].upper() + effect[1:]):
            self.words = []


def swift_comment(text, further=""):
    return [f"    /// {line}" for line in textwrap.wrap(text, 112, subsequent_indent=further)]


def swift_name(name):
    return f"`{name}`" if name in ("for", "in", "as", "is") else name


def swift_effect(schemas, schema):
    """The lines of an effect's constant, or of its function."""
    name, = schema["required"]
    swift, own = camel(name), schemas.followed(schema["properties"][name])
    comment = swift_comment(described(schema))
    if "const" in own:
        return [*comment, f'    public static let {swift} = Self("{name}")']
    # An argument that is `true` or an object of options, else the argument itself with members beside it.
    options = next((one for one in own.get("oneOf", []) if {"const": True} in own["oneOf"] and "properties" in one), None)
    members = options["properties"] if options else {key: value for key, value in schema["properties"].items() if key != name}
    others = [Argument(schemas, swift, *member) for member in members.items()]
    given = [f"{one.name}: {one.type}? = nil" for one in others]
    documented = [(one.name, one.doc) for one in others if one.doc]
    value = f'Self("{name}", options: '
    if not options:
        first = Argument(schemas, swift, name, schema["properties"][name])
        given.insert(0, f"_ value: {first.type}")
        documented[:0] = [("value", first.doc)] * bool(first.doc)
        value = f'Self("{name}", value.json' + (", beside: " if others else ")")
    if others:
        value += "[" + ", ".join(f'"{one.wire}": {swift_name(one.name)}?.json' for one in others) + "])"
    lines = []
    for one in others:
        if one.words:
            lines += [*swift_comment(one.doc), f"    public enum {one.type}: String, Sendable, FaultArgument {{ case {', '.join(one.words)} }}", ""]
    lines += comment + ["    ///"] * bool(comment and documented)
    documented = [f"{key}: {text[0].lower()}{text[1:]}" for key, text in documented]
    if len(documented) == 1:
        lines += swift_comment(f"- Parameter {documented[0]}", "  ")
    elif documented:
        lines += ["    /// - Parameters:", *(f"    ///   {line[8:]}" for text in documented for line in swift_comment(f"- {text}", "  "))]
    return [*lines, f"    public static func {swift}({', '.join(given)}) -> Self {{", f"        {value}", "    }"]


def swift_effects(schemas):
    """The extension of FaultEffect with each effect that the description has."""
    schemas = Schemas(schemas)
    blocks = ["\n".join(swift_effect(schemas, one)) for one in schemas.at("FaultRequest.effect")["oneOf"]]
    return "import SimulationAPI\n\nextension FaultEffect {\n" + "\n\n".join(blocks) + "\n}\n"
