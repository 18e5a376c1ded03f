import { QueryClient } from "@tanstack/react-query";
import { expect, it, vi } from "vitest";
import { lazyModule } from "@/lib/lazy-module";
import { prepareScreen, screenModules } from "./screen-modules";
import { screens } from "./screens";

it("console_151_every_screen_of_the_rail_has_a_script", () => {
  expect(Object.keys(screenModules).sort()).toEqual(screens.map(({ path }) => path).sort());
});

it("console_151_a_pointer_over_a_link_asks_for_the_data_of_its_screen", async () => {
  const fetched = vi.fn<typeof fetch>(async () => new Response("{}"));
  vi.stubGlobal("fetch", fetched);

  prepareScreen("storage", new QueryClient());

  await vi.waitFor(() => expect(fetched).toHaveBeenCalled(), { timeout: 50_000 });
  expect(fetched.mock.calls[0]?.[0]).toContain("/storage/bucket");
  vi.unstubAllGlobals();
});

it("console_031_a_script_that_could_not_be_loaded_is_asked_for_again", async () => {
  const load = vi.fn<() => Promise<string>>();
  load.mockRejectedValueOnce(new TypeError("the server is away")).mockResolvedValueOnce("module");
  const module = lazyModule(load);

  await expect(module.load()).rejects.toThrow("away");
  expect(module.find()).toBeUndefined();
  await expect(module.load()).resolves.toBe("module");
  expect(module.find()).toBe("module");
});
