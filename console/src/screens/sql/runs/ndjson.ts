/** Reads a body of lines, each a JSON document, while it arrives. */

/**
 * Yields the documents of each chunk together, so that thousands of rows cost one update of the screen. A last line
 * without its line feed is read too; a broken one throws, because then the stream was cut.
 */
export async function* readNdjson<Line>(
  body: ReadableStream<Uint8Array>,
): AsyncGenerator<Line[], void, void> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let rest = "";
  try {
    for (;;) {
      const { done, value } = await reader.read();
      const text = rest + (done ? decoder.decode() : decoder.decode(value, { stream: true }));
      const lines = text.split("\n");
      rest = done ? "" : (lines.pop() ?? "");
      const documents = lines.filter((line) => line.trim() !== "").map(parseLine<Line>);
      if (documents.length > 0) yield documents;
      if (done) return;
    }
  } finally {
    // Leaving early, as a cancelled run does, must close the connection.
    await reader.cancel().catch(() => undefined);
  }
}

function parseLine<Line>(line: string): Line {
  const document: Line = JSON.parse(line);
  return document;
}
