import { Link } from "react-router";
import { Button } from "@/components/ui/button";
import { sectionPath } from "./explore-params";

/** Action of an empty section: back to all outfits. */
export function ExploreLink() {
  return (
    <Button variant="primary" asChild>
      <Link to={sectionPath("explore")}>Explore Outfits</Link>
    </Button>
  );
}
