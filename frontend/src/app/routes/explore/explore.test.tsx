import { screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { describe, expect, it, vi } from "vitest";
import { buildOutfit } from "@/testing/outfits";
import { renderAt } from "@/testing/render";
import { Explore } from "./explore";

type Rows = unknown[] | { code: string; message: string };

/** Stubs `fetch` with responses of the REST service by table; other tables are empty. Returns the requested URLs. */
function serve(tables: Record<string, () => Rows | Promise<Rows>>): URL[] {
  const queries: URL[] = [];
  vi.stubGlobal("fetch", async (input: RequestInfo | URL) => {
    const url = new URL(String(input instanceof Request ? input.url : input));
    queries.push(url);
    const rows = await (tables[url.pathname.replace("/rest/v1/", "")]?.() ?? []);
    return Response.json(rows, { status: Array.isArray(rows) ? 200 : 400 });
  });
  return queries;
}

describe("Explore", () => {
  it("shows twelve skeleton tiles while loading, then the outfits", async () => {
    let arrive: (rows: Rows) => void = () => undefined;
    serve({
      combines: () =>
        new Promise<Rows>((resolve) => {
          arrive = resolve;
        }),
    });
    renderAt("/", <Explore />);

    expect(await screen.findByRole("heading", { name: "Explore Outfits" })).toBeVisible();
    expect(screen.getAllByTestId("card-skeleton")).toHaveLength(12);

    arrive([buildOutfit("rain-plan"), buildOutfit("gallery-opening")]);
    expect(await screen.findByRole("link", { name: /rain-plan/ })).toHaveAttribute(
      "href",
      "/?outfit=rain-plan",
    );
    expect(screen.queryByTestId("card-skeleton")).toBeNull();
  });

  it("explains a failed request and retries on demand", async () => {
    let works = false;
    serve({
      combines: () =>
        works ? [buildOutfit("rain-plan")] : { code: "PGRST100", message: "Bad filter." },
    });
    renderAt("/", <Explore />);

    expect(await screen.findByText("The outfits could not be loaded.")).toBeVisible();
    expect(screen.getByText("Bad filter.")).toBeVisible();
    works = true;
    await userEvent.click(screen.getByRole("button", { name: "Try again" }));
    expect(await screen.findByRole("link", { name: /rain-plan/ })).toBeInTheDocument();
  });

  it("filters by the genders in the address", async () => {
    const queries = serve({});
    renderAt("/?gender=men,unisex", <Explore />);

    expect(await screen.findByText("No outfits match this filter.")).toBeVisible();
    const query = queries.find(({ pathname }) => pathname.endsWith("/combines"));
    expect(query?.searchParams.get("gender")).toBe("in.(men,unisex)");
    expect(query?.searchParams.get("limit")).toBe("24");
  });

  it("searches by the function of the database, and shows the newest outfits when nothing matches", async () => {
    const queries = serve({ combines: () => [buildOutfit("gallery-opening")] });
    renderAt("/?q=rain", <Explore />);

    expect(await screen.findByRole("heading", { name: "No results found" })).toBeVisible();
    expect(await screen.findByRole("heading", { name: "Newest outfits" })).toBeVisible();
    expect(await screen.findByRole("link", { name: /gallery-opening/ })).toBeInTheDocument();
    expect(queries.some(({ pathname }) => pathname.endsWith("/rpc/search_outfits"))).toBe(true);
  });

  it("names the period of the ranking, and says when it is empty", async () => {
    serve({});
    renderAt("/?section=top&period=week", <Explore />);

    expect(await screen.findByRole("heading", { name: "Top Outfits - This Week" })).toBeVisible();
    expect(await screen.findByText("No top outfits found for this time period")).toBeVisible();
  });

  it("asks a visitor who opens a private section to sign in", async () => {
    serve({});
    renderAt("/?section=likes", <Explore />);

    expect(await screen.findByText("Sign in to see the outfits you like.")).toBeVisible();
    expect(screen.getByRole("link", { name: "Sign In" })).toHaveAttribute("href", "/auth");
  });

  it("opens the outfit in the address; previous and next wrap around", async () => {
    serve({ combines: () => [buildOutfit("rain-plan"), buildOutfit("gallery-opening")] });
    renderAt("/?outfit=rain-plan", <Explore />);

    expect(await screen.findByRole("dialog", { name: "rain-plan" })).toBeInTheDocument();
    await userEvent.keyboard("{ArrowLeft}");
    expect(await screen.findByRole("dialog", { name: "gallery-opening" })).toBeInTheDocument();
    await userEvent.keyboard("{ArrowRight}");
    expect(await screen.findByRole("dialog", { name: "rain-plan" })).toBeInTheDocument();
    await userEvent.keyboard("{Escape}");
    expect(screen.queryByRole("dialog")).toBeNull();
    expect(screen.getByTestId("address")).toHaveTextContent(/^\/$/);
  });

  it("reads on before the last loaded outfit is reached, and goes back to the first only after the last of all", async () => {
    const all = Array.from({ length: 26 }, (_, index) => buildOutfit(`look-${index}`));
    vi.stubGlobal("fetch", async (input: RequestInfo | URL) => {
      const url = new URL(String(input instanceof Request ? input.url : input));
      const offset = Number(url.searchParams.get("offset") ?? 0);
      const isList = url.pathname.endsWith("/combines");
      return Response.json(isList ? all.slice(offset, offset + 24) : []);
    });
    renderAt("/?outfit=look-23", <Explore />);

    for (const name of ["look-23", "look-24", "look-25", "look-0"]) {
      expect(await screen.findByRole("dialog", { name })).toBeInTheDocument();
      // The key does nothing while what follows is being read.
      await screen.findByRole("dialog", { name });
      await userEvent.keyboard("{ArrowRight}");
    }
  });
});
