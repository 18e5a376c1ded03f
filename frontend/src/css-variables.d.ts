import "react";

declare module "react" {
  /** Custom properties may be set inline: a component's number, used by its stylesheet. */
  interface CSSProperties {
    [property: `--${string}`]: string | number;
  }
}
