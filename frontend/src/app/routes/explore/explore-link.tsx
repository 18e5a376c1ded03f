import { Link } from "react-router";
import { Button } from "@/components/ui/button";
import { sectionPath } from "./explore-params";

/** The way out of an empty section. */
export function ExploreLink() {
  return (
    <Button variant="primary" asChild>
      <Link to={sectionPath("explore")}>Explore Outfits</Link>
    </Button>
  );
}
