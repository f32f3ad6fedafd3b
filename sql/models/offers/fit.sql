-- The prices that the fit reads, and by how much it widens intervals. What it gives are tables of the database fit, which price_doubts and the marts of
-- prices read.
from price_inputs
cross join dim_settings
cross join interval_factors
