import { imageSources } from "@/lib/images";
import { product } from "@/lib/product";

type Child = Node | string;

/** An element with class names. Texts become text nodes, so names and descriptions of rows cannot bring markup along. */
export function element(tag: string, className: string, ...children: Child[]): HTMLElement {
  const created = document.createElement(tag);
  created.className = className;
  created.append(...children);
  return created;
}

export function div(className: string, ...children: Child[]): HTMLElement {
  return element("div", className, ...children);
}

export function span(className: string, ...children: Child[]): HTMLElement {
  return element("span", className, ...children);
}

/** An empty input, which has the size of a rendered one and wraps nothing. */
export function input(
  className: string,
  properties: Partial<Pick<HTMLInputElement, "value" | "placeholder">>,
): HTMLElement {
  return Object.assign(document.createElement("input"), { className, ...properties });
}

const buttonVariants = {
  primary: "bg-accent text-on-accent",
  secondary: "border border-line-strong/60 text-ink",
  quiet: "text-ink-soft",
} as const;

const buttonSizes = { md: "h-11 px-5", lg: "h-12 px-6" } as const;

/** The picture of a button, as `components/ui/button.tsx` renders it. */
export function button(
  label: string,
  variant: keyof typeof buttonVariants = "secondary",
  size: keyof typeof buttonSizes = "md",
): HTMLElement {
  return span(
    `inline-flex items-center justify-center rounded-full font-medium text-small whitespace-nowrap ${buttonVariants[variant]} ${buttonSizes[size]}`,
    label,
  );
}

interface PictureOptions {
  url: string | null;
  /** Average color as `#rrggbb`. */
  color: string | null;
  sizes: string;
  /** Width of the stored file in pixels. */
  width: number;
  className: string;
}

/** A framed picture with the attributes of `components/ui/picture.tsx`, so that the browser loads it once for both. */
export function picture({ url, color, sizes, width, className }: PictureOptions): HTMLElement {
  const frame = span(`block overflow-hidden bg-raised ${className}`);
  if (color !== null) frame.style.backgroundColor = color;
  if (url === null || url === "") return frame;
  const { src, srcSet } = imageSources(url, width);
  const image = new Image();
  image.className = "picture-image size-full object-cover";
  image.dataset.loaded = "true";
  image.dataset.url = url;
  image.alt = "";
  image.fetchPriority = "high";
  image.sizes = sizes;
  if (srcSet !== undefined) image.srcset = srcSet;
  image.src = src;
  frame.append(image);
  return frame;
}

export function wordmark(className = "", text: string = product.name): HTMLElement {
  return span(
    `inline-flex h-11 items-center rounded-sm font-serif text-[1.75rem] text-ink leading-none tracking-tight ${className}`,
    text,
  );
}

/** The outline of a search box. */
export function searchBox(className: string, placeholder: string): HTMLElement {
  return span(
    `flex w-full items-center rounded-full border border-line bg-surface pl-10 text-ink-soft max-md:text-body ${className}`,
    placeholder,
  );
}

/** The bar of the bottom navigation, on phones. */
export function bottomBar(): HTMLElement {
  return div(
    "fixed inset-x-0 bottom-0 z-30 border-line border-t bg-canvas/95 pb-safe md:hidden",
    div("h-15"),
  );
}

/** Layout of the reading pages. */
export function sitePage(...content: HTMLElement[]): HTMLElement {
  return div(
    "flex min-h-dvh flex-col bg-canvas text-ink",
    div(
      "sticky top-0 z-30 border-line border-b bg-canvas/92",
      div("mx-auto flex max-w-7xl items-center gap-3 px-4 py-2 md:px-8", wordmark()),
    ),
    div("mx-auto w-full max-w-7xl flex-1 px-4 pt-8 pb-28 md:pb-16 md:px-8", ...content),
    bottomBar(),
  );
}
