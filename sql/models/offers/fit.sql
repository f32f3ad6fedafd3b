-- The prices that the fit reads. What it gives are tables of the database fit, which price_doubts and the marts of
-- prices read.
from price_inputs
cross join dim_settings
