"""Results as FHIR R4 resources."""
