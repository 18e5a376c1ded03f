#!/usr/bin/env python3
"""Writes random XML documents with their canonical forms by libxml2 (Python's lxml), for the test `canonical_forms`.

    make_canonical_forms.py NUMBER SEED >crates/saml/tests/data/canonical_forms.json
    make_canonical_forms.py 2000 7 >/tmp/forms.json && CANONICAL_FORMS=/tmp/forms.json cargo test -p selvedge-saml --test canonical_forms

The stored file is the output for 80 documents with seed 1.
"""
import json
import random
import sys

from lxml import etree

PREFIXES = ["", "a", "b", "c", "saml", "ds"]
# Without `&`, which libxml2 writes as it is in namespaces, so that its output would not be XML.
URIS = ["urn:1", "urn:2", "urn:3", "http://x/?a=1"]
TEXTS = ["plain", " two  words ", "a\nb\tc", "a\r\nb", "<&>\"'", "žluť 😀", "]]", "\u00a0", ""]
EXCLUSIVE = "http://www.w3.org/2001/10/xml-exc-c14n#"
INCLUSIVE = "http://www.w3.org/TR/2001/REC-xml-c14n-20010315"


def escape_text(chance, text):
    out = ""
    for c in text:
        if c in "&<" or (c == ">" and chance.random() < 0.5):
            out += {"&": "&amp;", "<": "&lt;", ">": "&gt;"}[c] if chance.random() < 0.6 else f"&#{ord(c)};"
        elif chance.random() < 0.05:
            out += f"&#x{ord(c):X};"
        else:
            out += c
    return out


def escape_attribute(chance, text):
    return escape_text(chance, text).replace('"', "&quot;")


def write_element(chance, scope, depth, names, meanings):
    """One element as text. `scope` are the prefixes in scope with their URIs; `meanings` the only URI of each, or none."""
    scope = dict(scope)
    declared = {}
    for prefix in meanings or PREFIXES:
        if meanings and prefix in scope:
            continue  # libxml2 would show such a repeated declaration again, against the standard.
        if chance.random() < (0.6 if depth == 0 else 0.2):
            declared[prefix] = meanings.get(prefix) or chance.choice(URIS + ([""] if prefix == "" else []))
    scope.update(declared)
    usable = [p for p in scope if p] + [""]
    prefix = chance.choice(usable)
    local = f"e{len(names)}"
    names.append(local)
    tag = f"{prefix}:{local}" if prefix else local
    parts = [f'xmlns:{p}="{escape_attribute(chance, u)}"' if p else f'xmlns="{escape_attribute(chance, u)}"' for p, u in declared.items()]
    seen = set()
    for _ in range(chance.randrange(4)):
        p, name = chance.choice(usable), chance.choice("xyz")
        key = (scope[p] if p else "", name)
        if key not in seen:
            seen.add(key)
            parts.append(f'{p + ":" if p else ""}{name}="{escape_attribute(chance, chance.choice(TEXTS))}"')
    if depth > 0 and chance.random() < 0.1:
        parts.append('xml:lang="en"')
    chance.shuffle(parts)
    gap = chance.choice([" ", "\n  "])
    out = "<" + tag + "".join(gap + part for part in parts)
    if depth >= 5 or chance.random() < 0.15:
        return out + ("/>" if chance.random() < 0.5 else f"></{tag}>")
    out += ">"
    for _ in range(chance.randrange(5)):
        kind = chance.random()
        if kind < 0.45:
            out += write_element(chance, scope, depth + 1, names, meanings)
        elif kind < 0.8:
            out += escape_text(chance, chance.choice(TEXTS))
        elif kind < 0.9:
            out += f"<!-- {chance.choice(['note', '<x>&amp;', 'ž'])} -->"
        else:
            out += "<![CDATA[" + chance.choice(["<raw>&", "x"]) + "]]>"
    return out + f"</{tag}>"


def main():
    number, seed = int(sys.argv[1]), int(sys.argv[2])
    chance = random.Random(seed)
    cases = []
    while len(cases) < number:
        names = []
        # In two of three documents a prefix always means the same, as in SAML; the default namespace is then never used.
        meanings = {p: chance.choice(URIS) for p in PREFIXES if p} if chance.random() < 0.67 else {}
        head = chance.choice(["", '<?xml version="1.0" encoding="UTF-8"?>\n', "<!-- before -->"])
        document = head + write_element(chance, {}, 0, names, meanings)
        root = etree.fromstring(document.encode(), etree.XMLParser(resolve_entities=False, remove_blank_text=False))
        forms = []
        for local in chance.sample(names, min(3, len(names))):
            element = next(e for e in root.iter() if isinstance(e.tag, str) and etree.QName(e).localname == local)
            if any(a.attrib.get("{http://www.w3.org/XML/1998/namespace}lang") for a in element.iterancestors()):
                continue  # lxml writes a copy of the element, which has lost the attributes of its ancestors.
            for exclusive in (True, False):
                comments = chance.random() < 0.5
                form = etree.tostring(element, method="c14n", exclusive=exclusive, with_comments=comments, with_tail=False)
                # At the root lxml also writes the comments around it.
                text = form.decode().removeprefix("<!-- before -->\n")
                # Where a prefix is declared again below, libxml2 forgets in the inclusive form what it has written: it repeats a
                # namespace after a sibling that had another one, or writes xmlns="" although there is a default namespace.
                if not meanings and not exclusive:
                    continue
                uri = EXCLUSIVE if exclusive else INCLUSIVE
                suffix = ("WithComments" if exclusive else "#WithComments") if comments else ""
                forms.append([local, uri + suffix, "", text])
        if forms:
            cases.append({"document": document, "forms": forms})
    print("[" + ",\n".join(json.dumps(case, ensure_ascii=False) for case in cases) + "]")


main()
