export const value = "through import_map.json";
