export * from "yaml";
