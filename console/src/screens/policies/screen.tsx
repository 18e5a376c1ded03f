/** Policies: the access matrix, the policies of a table beside the simulator, and the simulator for any request. */
import { Route, Routes } from "react-router";
import { MatrixScreen } from "./matrix-screen";
import { SimulatorScreen } from "./simulator-screen";
import { TableScreen } from "./table-screen";

export function Screen() {
  return (
    <Routes>
      <Route index element={<MatrixScreen />} />
      <Route path="simulator" element={<SimulatorScreen />} />
      <Route path=":oid" element={<TableScreen />} />
    </Routes>
  );
}
