import { expect, it } from "vitest";

const sources: Record<string, string> = import.meta.glob("/src/**/*.{ts,tsx}", {
  query: "?raw",
  import: "default",
  eager: true,
});

it("a failed refetch takes nothing away that is shown: the first read alone decides, by isLoadingError", () => {
  // `isError` is true with the former data, too.
  const decides = /if \(isError\)|\bisError \?|\.isError \?|if \(\w+\.isError\)/;
  const found = Object.entries(sources).filter(
    ([path, text]) => !path.includes(".test.") && decides.test(text),
  );

  expect(found.map(([path]) => path.replace("/src/", "")).sort()).toEqual([
    // It asks for `data` first.
    "app/shell/page-section.tsx",
    // A mutation.
    "features/auth/components/password-again.tsx",
    // It asks while nothing is shown yet.
    "lib/use-open-row.ts",
  ]);
});
