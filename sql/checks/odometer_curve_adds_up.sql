-- description: For each age and mileage band of odometer_curve, the models together have as many prices as the row of all models.
-- severity: error
select
    age_years,
    odometer_band_km,
    sum(case when level = 'all' then priced_lots else -priced_lots end) as priced,
    sum(case when level = 'all' then compared_lots else -compared_lots end) as compared
from odometer_curve
group by age_years, odometer_band_km
having
    sum(case when level = 'all' then priced_lots else -priced_lots end) <> 0
    or sum(case when level = 'all' then compared_lots else -compared_lots end) <> 0
