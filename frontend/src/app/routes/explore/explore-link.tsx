import { Button } from "@ui/button";
import { Link } from "react-router";
import { sectionPath } from "./explore-params";

/** Action of an empty section: back to all outfits. */
export function ExploreLink() {
  return (
    <Button variant="primary" asChild>
      <Link to={sectionPath("explore")}>Explore Outfits</Link>
    </Button>
  );
}
