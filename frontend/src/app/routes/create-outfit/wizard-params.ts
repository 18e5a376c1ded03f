import { useSearchParams } from "react-router";
import { paths } from "@/lib/paths";

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
