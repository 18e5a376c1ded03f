import { type ComponentType, use } from "react";
import { LazyCode } from "@/lib/lazy-part";

/** The code of a page, loaded when it is first needed. */
export class PageCode extends LazyCode<ComponentType> {}

/** Renders a page, and suspends until its code is loaded. */
export function LazyPage({ code }: { code: PageCode }) {
  const Page = use(code.promise);
  return <Page />;
}
