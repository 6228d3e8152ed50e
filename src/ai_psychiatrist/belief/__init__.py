"""How sure an assessment is, and why: distributions, sets, certificates, counterfactual audits."""
