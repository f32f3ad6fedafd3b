select vehicle_id, seq
from run.unchanged_vehicles
semi join stage.vehicles using (vehicle_id)
anti join run.overtaken_vehicles using (vehicle_id)
