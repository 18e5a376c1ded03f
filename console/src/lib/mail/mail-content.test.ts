import { describe, expect, test } from "vitest";
import { findCodes, prepareHtmlMail, readTextMail } from "./mail-content";

const prepare = (html: string) => prepareHtmlMail(html, "n0nce");

describe("CONSOLE-164 messages are rebuilt without anything that runs or loads", () => {
  test("scripts, handlers, frames and forms are gone", () => {
    const { html } = prepare(
      `<script>alert(1)</script><p onclick="alert(2)">Hello</p><iframe src="//x"></iframe>
       <form action="//x"><input></form><svg><script>alert(3)</script></svg>
       <img src=x onerror=alert(4)><meta http-equiv="refresh" content="0;url=//x">`,
    );

    expect(html).toContain("Hello");
    expect(html).not.toMatch(/script|onclick|onerror|iframe|<form|<input|refresh/);
  });

  test("links keep only web and mail addresses", () => {
    const { html, links } = prepare(
      `<a href="https://a.example/x?y=1">Confirm</a> <a href="javascript:alert(1)">Bad</a>
       <a href="mailto:a@b.example">Write</a> <a href="data:text/html,x">Data</a>`,
    );

    expect(links.map(({ url }) => url)).toEqual(["https://a.example/x?y=1", "mailto:a@b.example"]);
    expect(html).not.toMatch(/javascript:|data:text/);
    expect(html).toContain('rel="noopener noreferrer"');
  });

  test("remote images are replaced by their text, embedded ones stay", () => {
    const { html, removedImages } = prepare(
      `<img src="https://track.example/p.gif" alt="Logo"><img src="data:image/png;base64,AAAA">`,
    );

    expect(removedImages).toBe(1);
    expect(html).toContain("[Logo]");
    expect(html).not.toContain("track.example");
    expect(html).toContain("data:image/png;base64,AAAA");
  });

  test("inline styles become rules that the nonce admits, and styles load nothing", () => {
    const { html } = prepare(
      `<style>@import url(//x/a.css); p{background:url(//x/b.png)}</style>
       <p style="color:red;background-image:url('https://x/c.png')">Red</p>`,
    );

    expect(html).toContain('<style nonce="n0nce">');
    expect(html).toContain('[data-style="0"]{color:red;background-image:none}');
    expect(html).not.toContain("//x");
    expect(html).not.toMatch(/<p[^>]* style=/);
  });

  test("a style cannot leave its element or its rule", () => {
    const { html } = prepare(`<p style="color:red}</style><b>x</b>body{display:none">A</p>`);

    expect(html.match(/<\/style>/g)).toHaveLength(1);
    expect(html).not.toContain("body{display");
  });
});

describe("CONSOLE-140 links and codes", () => {
  test("codes stand alone; parts of links, prices and dates are none", () => {
    expect(findCodes("Your code is 482913. Or 48291357!")).toEqual(["482913", "48291357"]);
    expect(findCodes("2026 12.345678 +4366012345 a123456 x=123456")).toEqual([]);
  });

  test("a text message has its links once", () => {
    const found = readTextMail(
      "Go to https://a.example/v?token=123456 or type 654321.\nhttps://a.example/v?token=123456",
    );

    expect(found.links.map(({ url }) => url)).toEqual(["https://a.example/v?token=123456"]);
    expect(found.codes).toEqual(["654321"]);
  });
});
