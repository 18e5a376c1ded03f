import { useNavigate, useSearchParams } from "react-router";
import { paths } from "@/lib/paths";
import { usePresentAddress } from "@/lib/use-present-address";

export type WizardStep = "items" | "review";

/** State of the wizard's page that belongs to the address; what was chosen and typed is in the draft. */
export interface WizardParams {
  step: WizardStep;
  /** Id of the outfit that is edited; null for a new one. */
  outfit: string | null;
  query: string;
  /** Id, or the name as addresses write it; empty for all. */
  category: string;
  brand: string;
  color: string;
}

export function parseWizardParams(params: URLSearchParams): WizardParams {
  return {
    step: params.get("step") === "review" ? "review" : "items",
    outfit: params.get("outfit") || null,
    query: params.get("q")?.trim() ?? "",
    category: params.get("category") ?? "",
    brand: params.get("brand") ?? "",
    color: params.get("color") ?? "",
  };
}

/** Address of a state of the wizard. Default values are left out. */
export function wizardPath(state: Partial<WizardParams>): string {
  const params = new URLSearchParams();
  if (state.outfit) params.set("outfit", state.outfit);
  if (state.step === "review") params.set("step", "review");
  if (state.query) params.set("q", state.query);
  for (const filter of ["category", "brand", "color"] as const) {
    if (state[filter]) params.set(filter, state[filter]);
  }
  const search = params.toString();
  return search === "" ? paths.createOutfit : `${paths.createOutfit}?${search}`;
}

export function useWizardParams(): WizardParams {
  const [params] = useSearchParams();
  return parseWizardParams(params);
}

/** Returns a function that changes search and filters in the address, in place of the present entry of the history. */
export function useChangeFilters(): (change: Partial<WizardParams>) => void {
  const navigate = useNavigate();
  const present = usePresentAddress();
  return (change) => {
    // The present address and not that of the last rendering: a search that was typed just before "Next" runs when the next step is
    // already in the address.
    const current = parseWizardParams(present().params);
    navigate(wizardPath({ ...current, ...change }), { replace: true, preventScrollReset: true });
  };
}
